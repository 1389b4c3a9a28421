# SPDX-License-Identifier: Apache-2.0
"""Names of PyTorch's operators, torch.ops.aten.name, for which a function or method of libdl takes
the same arguments in the same order. Behind a colon: the overloads, unless it is default alone."""

NAMES = """
abs abs_ absolute absolute_ acos acos_ acosh acosh_ adaptive_avg_pool1d adaptive_max_pool1d
add:Tensor,Scalar add_:Tensor,Scalar addbmm addcdiv addcdiv_ addcmul addcmul_ addmm addmm_ addmv
addr adjoint affine_grid_generator all:default,dim,dims,int,float,bool allclose alpha_dropout
alpha_dropout_ amax amin aminmax angle any:default,dim,dims,int,float,bool arccos arccos_ arccosh
arccosh_ arcsin arcsin_ arcsinh arcsinh_ arctan arctan2 arctan2_ arctan_ arctanh arctanh_ argmax
argmin argsort:default,stable,values,values_stable argwhere as_strided as_strided_scatter asin asin_
asinh asinh_ atan atan2 atan2_ atan_ atanh atanh_ avg_pool1d baddbmm batch_norm
bernoulli:default,p,Tensor bernoulli_:Tensor,float bilinear binary_cross_entropy_with_logits
bincount binomial bitwise_and:Tensor,Scalar bitwise_and_:Tensor,Scalar
bitwise_left_shift:Tensor,Tensor_Scalar bitwise_left_shift_:Tensor_Scalar,Tensor bitwise_not
bitwise_not_ bitwise_or:Tensor,Scalar bitwise_or_:Tensor,Scalar
bitwise_right_shift:Tensor,Tensor_Scalar bitwise_right_shift_:Tensor_Scalar,Tensor
bitwise_xor:Tensor,Scalar bitwise_xor_:Tensor,Scalar bmm broadcast_to bucketize:Tensor cat cauchy_
cdist ceil ceil_ celu celu_ channel_shuffle chunk clamp:default,Tensor clamp_:default,Tensor
clamp_max:default,Tensor clamp_min:default,Tensor clip:default,Tensor clip_:default,Tensor clone
coalesce column_stack complex concat concatenate conj conj_physical conj_physical_ constant_pad_nd
conv1d:default,padding conv2d:default,padding conv3d:default,padding conv_tbc conv_transpose1d
conv_transpose2d:input conv_transpose3d:input convolution copy_ copysign:Tensor,Scalar
copysign_:Tensor,Scalar corrcoef cos cos_ cosh cosh_ cosine_embedding_loss cosine_similarity
count_nonzero:default,dim_IntList cov cross ctc_loss:IntList,Tensor cummax cummin cumprod cumprod_
cumsum cumsum_ cumulative_trapezoid:x,dx deg2rad dense_dim detach diag diag_embed diagflat diagonal
diagonal_scatter diff digamma digamma_ dist div:Tensor,Scalar,Tensor_mode,Scalar_mode
div_:Tensor,Tensor_mode,Scalar,Scalar_mode divide:Tensor,Scalar,Tensor_mode,Scalar_mode
divide_:Tensor,Tensor_mode,Scalar_mode,Scalar dot dropout dropout_ dstack embedding
embedding_bag:default,padding_idx embedding_renorm_ empty_like empty_permuted eq:Tensor,Scalar
eq_:Scalar,Tensor equal erf erf_ erfc erfc_ erfinv erfinv_ exp exp2 exp2_ exp_ expand expand_as
expm1 expm1_ exponential_ feature_alpha_dropout feature_alpha_dropout_ feature_dropout
feature_dropout_ fill:Scalar,Tensor fill_:Scalar,Tensor fill_diagonal_ fix fix_ flatten:using_ints
flip fliplr flipud float_power:Tensor_Tensor,Tensor_Scalar float_power_:Tensor,Scalar floor floor_
floor_divide:default,Scalar floor_divide_:Tensor,Scalar fmax fmin fmod:Tensor,Scalar
fmod_:Tensor,Scalar frac frexp:Tensor full full_like gather gcd ge:Tensor,Scalar ge_:Scalar,Tensor
geometric_ ger
gradient:scalarint,scalararray,array,scalarrayint,scalarrayarray,tensorarrayint,tensorarray
greater:Tensor,Scalar greater_:Scalar,Tensor greater_equal:Tensor,Scalar
greater_equal_:Scalar,Tensor grid_sampler grid_sampler_2d grid_sampler_3d group_norm gru_cell
gt:Tensor,Scalar gt_:Scalar,Tensor hardshrink heaviside heaviside_ hinge_embedding_loss histc
histogram:bins_tensor,bin_ct histogramdd:default,int_bins,TensorList_bins hstack hypot hypot_ i0 i0_
igamma igamma_ igammac igammac_ imag index_add index_add_ index_copy index_copy_
index_fill:int_Tensor,int_Scalar index_fill_:int_Tensor,int_Scalar index_put index_put_ index_reduce
index_select indices inner instance_norm is_autocast_cpu_enabled is_coalesced is_complex is_conj
is_distributed is_floating_point is_inference is_neg is_nonzero is_pinned is_same_size is_set_to
is_signed isclose isfinite isin:Tensor_Tensor isinf isnan isneginf isposinf isreal kl_div kron
kthvalue layer_norm lcm ldexp:Tensor le:Tensor,Scalar le_:Scalar,Tensor lerp:Scalar,Tensor
lerp_:Scalar,Tensor less:Tensor,Scalar less_:Scalar,Tensor less_equal:Tensor,Scalar
less_equal_:Scalar,Tensor lgamma lgamma_ linspace:Tensor_Tensor,Tensor_Scalar log log10 log10_ log1p
log1p_ log2 log2_ log_ log_normal_ log_softmax:int logaddexp logaddexp2 logcumsumexp logical_and
logical_and_ logical_not logical_not_ logical_or logical_or_ logical_xor logical_xor_ logit
logspace:Tensor_Tensor,Tensor_Scalar logsumexp lstm_cell lt:Tensor,Scalar lt_:Scalar,Tensor
margin_ranking_loss masked_fill:Scalar,Tensor masked_fill_:Scalar,Tensor masked_scatter
masked_scatter_ masked_select matmul matrix_power max:default,dim max_pool1d max_pool1d_with_indices
max_pool2d max_pool3d maximum mean:default,dim median:default,dim min:default,dim minimum mm mode
moveaxis:intlist,int movedim:int,intlist msort mul:Tensor,Scalar mul_:Tensor,Scalar multinomial
multiply:Tensor,Scalar multiply_:Tensor,Scalar mv mvlgamma nan_to_num nanmean nanmedian:default,dim
nanquantile:default,scalar nansum narrow:default,Tensor native_batch_norm native_channel_shuffle
native_dropout native_group_norm native_layer_norm ne:Tensor,Scalar ne_:Scalar,Tensor neg neg_
negative negative_ new_empty new_empty_strided new_full new_ones new_zeros nextafter nextafter_
nonzero nonzero_static norm_except_dim normal:Tensor_float,Tensor_Tensor normal_
not_equal:Tensor,Scalar not_equal_:Scalar,Tensor ones_like outer pairwise_distance pdist permute
pin_memory pixel_shuffle pixel_unshuffle poisson poisson_nll_loss polar positive
pow:Tensor_Tensor,Tensor_Scalar pow_:Scalar,Tensor prelu prod:default,dim_int put put_
quantile:default,scalar rad2deg rand_like:default,generator randn_like:default,generator ravel real
reciprocal reciprocal_ relu relu_ remainder:Tensor,Scalar remainder_:Tensor,Scalar renorm repeat
repeat_interleave:self_Tensor,self_int reshape reshape_as resolve_conj resolve_neg rms_norm
rnn_relu_cell rnn_tanh_cell roll rot90 round:default,decimals round_:default,decimals row_stack
rrelu rrelu_ rsqrt rsqrt_ rsub:Tensor,Scalar scatter:src,reduce scatter_:src,reduce scatter_add
scatter_add_ scatter_reduce:two select:int select_scatter selu selu_ sgn sgn_ sigmoid sigmoid_ sign
sign_ signbit sin sin_ sinc sinh sinh_ slice_scatter softmax:int sort:default,stable
sparse_coo_tensor:indices,indices_size sparse_dim split_with_sizes sqrt sqrt_ square square_
squeeze:default,dim,dims stack std:dim,correction std_mean:dim,correction sub:Tensor,Scalar
sub_:Tensor,Scalar subtract:Tensor,Scalar subtract_:Tensor,Scalar
sum:dim_IntList,default,int,float,complex,bool sum_to_size swapdims t take take_along_dim tan tan_
tanh tanh_ threshold threshold_ tile to_dense topk:default,values trace transpose:int trapezoid:x,dx
trapz:x,dx tril tril_ triplet_margin_loss triu triu_ true_divide:Tensor,Scalar
true_divide_:Tensor,Scalar trunc trunc_ type_as unbind:int unflatten:int unfold unique_consecutive
unsafe_chunk unsafe_split:Tensor unsafe_split_with_sizes unsqueeze values vander var:dim,correction
var_mean:dim,correction vdot view:default,dtype view_as view_as_complex view_as_real vstack
where:default,self,ScalarSelf,ScalarOther,Scalar xlogy:Tensor,Scalar_Other zero_ zeros_like
"""

# In nn.functional, and factories, which take sizes as a list.
MORE = """
elu gelu glu hardsigmoid hardswish hardtanh leaky_relu linear mish one_hot pixel_shuffle
pixel_unshuffle polygamma relu6 searchsorted:Tensor,Scalar silu softplus
"""
FACTORIES = "empty full ones rand randn zeros"


def overloads(text: str) -> dict[str, list[str]]:
    """The names of such a text, with their overloads."""
    found = {}
    for word in text.split():
        name, _, given = word.partition(":")
        found[name] = given.split(",") if given else ["default"]
    return found
